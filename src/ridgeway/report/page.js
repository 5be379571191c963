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

  drawAll(current()).then(() => { document.documentElement.dataset.drawn = String(plots.length); });
  darkness.addEventListener("change", () => drawAll(current()));
  window.addEventListener("beforeprint", () => flat.forEach((plot) => draw(plot, themes.light, onPaper)));
  window.addEventListener("afterprint", () => drawAll(current()));

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
