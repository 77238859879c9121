/** Bounds of what a client may send (decisions §4, §5). One place, so that schema, document and error text agree. */
export const limits = {
  prompt_chars: 200_000,
  images: 10,
  images_bytes: 16 * 1024 * 1024,
  metadata_bytes: 16 * 1024,
  body_bytes: 24 * 1024 * 1024,
  body_depth: 64,
  title_chars: 200,
  tags: 20,
  tag_chars: 50,
  webhooks: 10,
  idempotency_key_chars: 255,
  webhook_url_chars: 2_083,
  webhook_secret_chars: 500,
  page_limit: 100,
  page_skip: 999_999_999,
} as const
