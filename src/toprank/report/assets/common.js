const data = JSON.parse(document.getElementById("data").textContent);
/** Whether labels are numbers, whose mean counts, and not hits, which are counted. */
const numbers = Boolean(data.span);
const baselineLabel = data.labels ? data.labels[data.baseline] : "";
const byId = (id) => document.getElementById(id);

/** An element with attributes and children; strings become text, never markup. */
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
};

const makeSvg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const grouped = (value, options) => value.toLocaleString("en-US", options);
const whole = (value) => grouped(value, { maximumFractionDigits: 0 });
const oneDigit = (value) =>
  value === null ? "–" : grouped(value, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const digits = (value, count = 4) => {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-4)) return value.toPrecision(count);
  return grouped(value, { maximumSignificantDigits: Math.max(count, Math.ceil(Math.log10(Math.abs(value) + 1))) });
};
const percent = (share) => (share === null ? "–" : `${digits(100 * share, 3)} %`);
const money = (value) => grouped(value, { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 });
const signed = (value, show = digits) => (value < 0 ? `−${show(-value)}` : `+${show(value)}`);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Everybody who wants to know that the colours changed. */
const themeListeners = [];

const startTheme = () => {
  const button = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const isDark = () => (chosen === null ? system.matches : chosen === "dark");
  const tell = () => {
    button.textContent = isDark() ? "Light colours" : "Dark colours";
    themeListeners.forEach((listener) => listener());
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    tell();
  });
  system.addEventListener("change", tell);
  // On paper everything is dark on white, charts included.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    themeListeners.forEach((listener) => listener());
  });
  addEventListener("afterprint", () => {
    if (chosen === null) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    themeListeners.forEach((listener) => listener());
  });
  tell();
};
