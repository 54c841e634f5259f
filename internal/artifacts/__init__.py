"""Artifacts: what came as a file, kept under the hash of its bytes, with the text that was read out of it.

How a file goes: a received message is stored with an artifact for each of its files (`Intake`, C2). Before its turn is
answered, or soon after where it has none, `flows.artifacts.reading` fetches the bytes, keeps them in the store, has the
reader of its kind read them, and writes the text in one transaction. A process that is killed anywhere on the way
begins the file again: what is not read is a query.

How to add a kind (`voice`, `photo`, ...): write a class with `kinds` and `read` (`model.Reader`), and name it in
`bot.application.artifacts.readers`. `bot.telegram.message_reader` gives every attachment its `file`. A reader
returns a `FileText`: with `in_message` its text becomes part of the message, as `[voice] ...` behind the caption, which
prompts, search and archivist read like any message; without, the message says `[file name]` and the text is an episode
of its own (its id is the artifact's) whose passages are found, cited with their page, and archived as the document's
words. A reader raises `UnreadableFile(reason)` for what can never be read, which gives the user one line
(`artifact-failed` in the catalogues; add reasons there), and anything of `ModelError` for what is tried again.
"""
