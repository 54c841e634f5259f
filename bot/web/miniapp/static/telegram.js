// The part of Telegram's Mini App protocol that is needed (core.telegram.org/api/web-events): nothing is loaded from elsewhere.

const KEPT = "laplaced-launch";

function launched() {
  const given = location.hash.includes("tgWebAppData=") ? location.hash.slice(1) : sessionStorage.getItem(KEPT) || "";
  sessionStorage.setItem(KEPT, given); // a reload has no fragment any more
  history.replaceState(null, "", location.pathname);
  return new URLSearchParams(given);
}

const launch = launched();
const heard = {};

export const initData = launch.get("tgWebAppData") || "";
export const startParam = new URLSearchParams(initData).get("start_param") || "";

export function post(type, data = {}) {
  const native = window.TelegramWebviewProxy;
  if (native) native.postEvent(type, JSON.stringify(data));
  else if (window.external && "notify" in window.external) window.external.notify(JSON.stringify({ eventType: type, eventData: data }));
  else if (window.parent !== window) window.parent.postMessage(JSON.stringify({ eventType: type, eventData: data }), "*");
}

export const on = (type, then) => (heard[type] = then);

function receive(type, data) {
  heard[type]?.(data || {});
}

// Apps call this by one of these names; a page that frames us posts a message.
window.TelegramGameProxy = { receiveEvent: receive };
window.Telegram = { WebView: { receiveEvent: receive } };
window.addEventListener("message", (event) => {
  if (event.source !== window.parent || typeof event.data !== "string") return;
  try {
    const { eventType, eventData } = JSON.parse(event.data);
    receive(eventType, eventData);
  } catch {
    // somebody else's message
  }
});

function dress(theme) {
  for (const [name, value] of Object.entries(theme || {}))
    if (/^#[0-9a-f]{6}$/i.test(value)) document.documentElement.style.setProperty(`--tg-${name.replaceAll("_", "-")}`, value);
  const [red, green, blue] = (theme?.bg_color?.match(/[0-9a-f]{2}/gi) || []).map((part) => parseInt(part, 16));
  if (blue !== undefined) document.documentElement.style.colorScheme = 0.3 * red + 0.6 * green + 0.1 * blue < 128 ? "dark" : "light";
}

function inset(prefix, area) {
  for (const side of ["top", "bottom", "left", "right"])
    if (Number.isFinite(area?.[side])) document.documentElement.style.setProperty(`--${prefix}-${side}`, `${area[side]}px`);
}

export function start() {
  try {
    dress(JSON.parse(launch.get("tgWebAppThemeParams") || "{}"));
  } catch {
    // colours of our own
  }
  on("theme_changed", (data) => dress(data.theme_params));
  on("safe_area_changed", (data) => inset("safe", data));
  on("content_safe_area_changed", (data) => inset("content", data));
  post("web_app_ready");
  post("web_app_expand");
  post("web_app_request_theme");
  post("web_app_request_safe_area");
  post("web_app_request_content_safe_area");
}

export function backButton(visible, pressed) {
  on("back_button_pressed", pressed);
  post("web_app_setup_back_button", { is_visible: visible });
}
