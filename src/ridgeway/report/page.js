// Draws every figure in the colours of the page, and again when those change.
(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const themes = JSON.parse(document.getElementById("themes").textContent);
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll(".plot")];
  // On paper a plot has the width of a page: what is wider would be cut.
  const onPaper = 790;
  const figureOf = (plot) => figures[plot.dataset.figure];
  const draw = (plot, theme, width) => RidgewayFigures.draw(plot, figureOf(plot), theme, width);
  const drawAll = (theme) => Promise.all(plots.map((plot) => draw(plot, theme)));
  const surfaces = plots.filter((plot) => figureOf(plot).layout.scene);
  const flat = plots.filter((plot) => !surfaces.includes(plot));
  const current = () => (darkness.matches ? themes.dark : themes.light);

  // Each output has a tab; a plot that nobody sees has no width, so it is drawn when its tab is shown.
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const show = (tab) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      panelOf(other).hidden = other !== tab;
    }
    return Promise.all([...panelOf(tab).querySelectorAll(".plot")].map((plot) => draw(plot, current())));
  };
  const keys = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 };
  const reach = (event) => {
    const i = tabs.indexOf(event.currentTarget), n = tabs.length;
    const next = event.key === "Home" ? 0 : event.key === "End" ? n - 1 : event.key in keys ? (i + keys[event.key] + n) % n : null;
    if (next === null) return;
    event.preventDefault();
    tabs[next].focus();
    show(tabs[next]);
  };
  // A link to a section opens its tab.
  const linked = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const panel = target && target.closest("[role=tabpanel]");
    return panel && tabs.find((tab) => panelOf(tab) === panel);
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", reach);
  }
  window.addEventListener("hashchange", () => {
    const tab = linked();
    if (tab && panelOf(tab).hidden) show(tab).then(() => document.getElementById(location.hash.slice(1)).scrollIntoView());
  });

  const began = tabs.length ? show(linked() || tabs[0]) : drawAll(current());
  began.then(() => { document.documentElement.dataset.drawn = String(plots.length); });
  const drawSeen = () => plots.filter((plot) => plot.offsetParent).forEach((plot) => draw(plot, current()));
  darkness.addEventListener("change", drawSeen);
  window.addEventListener("beforeprint", () => flat.forEach((plot) => draw(plot, themes.light, onPaper)));
  window.addEventListener("afterprint", drawSeen);

  // A canvas cannot be drawn anew in time for paper: a picture of each surface is kept for it.
  const keep = async (plot) => {
    const { data, layout } = figureOf(plot);
    const camera = { eye: RidgewayFigures.away(layout.scene.camera.eye, plot) };
    const seen = { ...layout, template: themes.light, scene: { ...layout.scene, camera } };
    const picture = document.createElement("img");
    picture.src = await Plotly.toImage({ data, layout: seen }, { format: "png", width: 600, height: 420, scale: 2 });
    picture.className = "paper";
    picture.alt = plot.getAttribute("aria-label");
    await picture.decode();
    plot.after(picture);
  };
  window.addEventListener("load", () => setTimeout(() => surfaces.forEach(keep), 500));
  surfaces.forEach(RidgewayFigures.turnable);
})();
