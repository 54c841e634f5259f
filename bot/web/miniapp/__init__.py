"""The Mini App: one owner's memory inside Telegram. A page without data, which calls REST in the owner's session."""
