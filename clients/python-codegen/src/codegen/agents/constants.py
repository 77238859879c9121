"""The default address of the service."""

import os

CODEGEN_BASE_API_URL = os.environ.get("CODEGEN_API_BASE_URL", "http://127.0.0.1:4600")
