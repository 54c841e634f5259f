// Keyboard, navigation drawer and what the browser remembers. Loaded on every page, before the page library starts.
window.laplaced = {
  keep(name, value) {
    document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax`;
    location.reload();
  },
  open(on) {
    const frame = document.querySelector(".frame");
    frame.classList.toggle("nav-open", on);
    if (on) frame.querySelector(".nav-link").focus();
    else document.querySelector("[data-open]")?.focus();
  },
  choose(user) {
    const url = new URL(location.href);
    url.search = user ? `?user=${user}` : "";
    location.href = url;
  },
};

(() => {
  let waiting = 0; // after `g`, a letter within a second

  const typing = (element) => element.closest("input, textarea, select, [contenteditable=true]") !== null;

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (document.querySelector(".frame.nav-open")) laplaced.open(false);
      return;
    }
    if (typing(event.target)) return;
    if (waiting > performance.now()) {
      waiting = 0;
      const link = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
      if (link) link.click();
      return;
    }
    if (event.key === "g") waiting = performance.now() + 1000;
    else if (event.key === "?") document.getElementById("help").showModal();
    else if (event.key === "/") {
      const search = document.querySelector("[data-search] input, input[data-search]");
      if (!search) return;
      event.preventDefault();
      search.focus();
    }
  }

  function click(event) {
    if (event.target.closest("[data-open]")) laplaced.open(true);
    else if (event.target.closest("[data-close]")) laplaced.open(false);
    else if (event.target.closest("[data-help]")) document.getElementById("help").showModal();
  }

  addEventListener("keydown", key);
  addEventListener("click", click);
  addEventListener("change", (event) => {
    if (event.target.matches("select[data-user]")) laplaced.choose(event.target.value);
  });
})();
