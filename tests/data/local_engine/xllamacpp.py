"""Stands in for the engine of the extra `local`: the same names, and a server that answers with fixed words."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(path=""), port=0, api_keys=[])


class Server:
    def __init__(self, parameters: CommonParams) -> None:
        path = Path(parameters.model.path)
        if path.read_bytes()[:4] != b"GGUF":
            raise RuntimeError("Failed to init server, please check the input params.")

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                allowed = self.headers["Authorization"] == f"Bearer {parameters.api_keys[0]}"
                words = f"{asked['model']} of {parameters.n_parallel}"
                choice = {"message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
                body = json.dumps({"choices": [choice]} if allowed else {"error": {"message": "no key"}}).encode()
                self.send_response(200 if allowed else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", parameters.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"
