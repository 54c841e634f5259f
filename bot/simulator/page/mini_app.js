// What a Mini App in the frame asks of Telegram: a back button, and to be closed.
setTimeout(() => {
  const frame = document.getElementById("cFRAME");
  const back = document.getElementById("cBACK");
  const tell = (type, data) => frame.contentWindow?.postMessage(JSON.stringify({ eventType: type, eventData: data }), "*");
  const hear = (event) => {
    if (!frame.isConnected) return window.removeEventListener("message", hear);
    if (event.source !== frame.contentWindow || typeof event.data !== "string") return;
    const { eventType, eventData } = JSON.parse(event.data);
    if (eventType === "web_app_setup_back_button") back.classList.toggle("invisible", !eventData.is_visible);
    if (eventType === "web_app_close") frame.dispatchEvent(new Event("close-app"));
  };
  window.addEventListener("message", hear);
  back.addEventListener("click", () => tell("back_button_pressed"));
}, 0);
