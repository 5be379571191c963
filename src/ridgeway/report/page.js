// Draws every figure in the colours of the page, and again when those change.
(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const themes = JSON.parse(document.getElementById("themes").textContent);
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const config = { responsive: true, displaylogo: false, displayModeBar: "hover", modeBarButtonsToRemove: ["lasso2d", "select2d"] };
  const plots = [...document.querySelectorAll(".plot")];

  // A surface is seen from farther away on a phone, so that its axes are not cut.
  const away = (eye, plot) => {
    const factor = plot.clientWidth < 480 ? 1.45 : 1.1;
    return { x: factor * eye.x, y: factor * eye.y, z: factor * eye.z };
  };
  // On paper a plot has the width of a page: what is wider would be cut.
  const onPaper = 790;
  const draw = (plot, theme, width) => {
    const { data, layout } = figures[plot.dataset.figure];
    // On a touch screen a finger that scrolls the page must not zoom a plot.
    const dragmode = layout.scene ? undefined : window.matchMedia("(pointer: coarse)").matches ? false : "zoom";
    const height = layout.scene && plot.clientWidth < 480 ? 340 : layout.height;
    plot.style.height = `${height}px`;
    const scene = layout.scene && { scene: { ...layout.scene, camera: { eye: away(layout.scene.camera.eye, plot) } } };
    const drawn = Plotly.react(plot, data, { ...layout, ...scene, height, template: theme, ...(width ? { width } : { autosize: true }), ...(dragmode === undefined ? {} : { dragmode }) }, config);
    // Plotly's own buttons are for a pointer: they would be a dozen stops for the keyboard that nobody sees.
    return drawn.then(() => plot.querySelectorAll(".modebar-btn").forEach((button) => { button.tabIndex = -1; }));
  };
  const drawAll = (theme, width) => Promise.all(plots.map((plot) => draw(plot, theme, width)));
  const surfaces = plots.filter((plot) => figures[plot.dataset.figure].layout.scene);
  const flat = plots.filter((plot) => !surfaces.includes(plot));
  const current = () => (darkness.matches ? themes.dark : themes.light);

  drawAll(current()).then(() => { document.documentElement.dataset.drawn = String(plots.length); });
  darkness.addEventListener("change", () => drawAll(current()));
  window.addEventListener("beforeprint", () => flat.forEach((plot) => draw(plot, themes.light, onPaper)));
  window.addEventListener("afterprint", () => drawAll(current()));

  // A canvas cannot be drawn anew in time for paper: a picture of each surface is kept for it.
  const keep = async (plot) => {
    const { data, layout } = figures[plot.dataset.figure];
    const camera = { eye: away(layout.scene.camera.eye, plot) };
    const seen = { ...layout, template: themes.light, scene: { ...layout.scene, camera } };
    const picture = document.createElement("img");
    picture.src = await Plotly.toImage({ data, layout: seen }, { format: "png", width: 600, height: 420, scale: 2 });
    picture.className = "paper";
    picture.alt = plot.getAttribute("aria-label");
    await picture.decode();
    plot.after(picture);
  };
  window.addEventListener("load", () => setTimeout(() => surfaces.forEach(keep), 500));

  // The arrow keys turn a surface that has the focus.
  const turn = (plot, around, up) => {
    const { eye } = plot.layout.scene.camera;
    const [c, s] = [Math.cos(around), Math.sin(around)];
    const z = Math.max(-3, Math.min(3, eye.z + up));
    Plotly.relayout(plot, { "scene.camera.eye": { x: c * eye.x - s * eye.y, y: s * eye.x + c * eye.y, z } });
  };
  const keys = { ArrowLeft: [0.15, 0], ArrowRight: [-0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
  for (const plot of surfaces) {
    plot.addEventListener("keydown", (event) => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      turn(plot, ...keys[event.key]);
    });
  }
})();
