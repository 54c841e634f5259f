// Starts the package as a process: it has no command of its own. Prints its port, which is one that was free.
const http = require("http");
const TelegramServer = require("telegram-test-api");

const probe = http.createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(async () => {
        await new TelegramServer({ host: "127.0.0.1", port, storeTimeout: 3600 }).start();
        console.log(port);
    });
});
