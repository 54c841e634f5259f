"""The main text of a web page."""


def main_text(body: bytes) -> tuple[str, str]:
    """The title and the main text of a page, without menus and the like; empty if there is none."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse_from_bytes(body, detect_encoding(body) or "utf-8")
    text = extract_plain_text(tree, main_content=True, alt_texts=False, links=False)
    return " ".join((tree.title or "").split()), str(text)
