"""Every example of the README works as it is."""

import contextlib
import io
import re
import unittest
from pathlib import Path

from service import CODEGEN_TOKEN, TOKEN, URL

BLOCKS = re.findall(r"^```python\n(.*?)^```$", (Path(__file__).parent.parent / "README.md").read_text(), re.MULTILINE | re.DOTALL)


class Readme(unittest.TestCase):
    def test_every_example_works(self) -> None:
        self.assertEqual(len(BLOCKS), 7)
        for block in BLOCKS:
            with self.subTest(block), contextlib.redirect_stdout(io.StringIO()) as output:
                exec(block.replace("http://127.0.0.1:4600", URL), {"token": TOKEN, "codegen_token": CODEGEN_TOKEN})
            self.assertNotEqual(output.getvalue(), "", block)
