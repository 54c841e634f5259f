"""Artifacts: received files, stored under the hash of their bytes, with the text that was read from them.

The way of a file: a received message is stored with an artifact for each of its files (`Intake`, C2). Before its turn
is answered, or soon after if it has none, `flows.artifacts.reading` fetches the bytes, keeps them in the store, runs
the reader of its kind, and writes the text in one transaction. After a kill at any moment the file is read from the
beginning: unread files are found by a query.

To add a kind (`voice`, `photo`, ...), write a class with `kinds` and `read` (`model.Reader`), and name it in
`bot.application.artifacts.readers`. `bot.telegram.message_reader` gives every attachment its `file`. A reader
returns a `FileText`: with `in_message` its text becomes part of the message, as `[voice] ...` after the caption, which
prompts, search and archivist read like any message; without, the message says `[file name]` and the text is its own
episode (with the artifact's id) whose passages are found, cited with their page, and archived as the document's
words. A reader raises `UnreadableFile(reason)` for a file that can never be read, which gives the user one line
(`artifact-failed` in the catalogues; add reasons there), and a `ModelError` for a file to be retried.
"""
