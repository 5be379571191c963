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
  const draw = (plot, theme) => {
    const { data, layout } = figures[plot.dataset.figure];
    // On a touch screen a finger that scrolls the page must not zoom a plot.
    const dragmode = layout.scene ? undefined : window.matchMedia("(pointer: coarse)").matches ? false : "zoom";
    const height = layout.scene && plot.clientWidth < 480 ? 340 : layout.height;
    plot.style.height = `${height}px`;
    const scene = layout.scene && { scene: { ...layout.scene, camera: { eye: away(layout.scene.camera.eye, plot) } } };
    return Plotly.react(plot, data, { ...layout, ...scene, height, template: theme, autosize: true, ...(dragmode === undefined ? {} : { dragmode }) }, config);
  };
  const drawAll = (theme) => Promise.all(plots.map((plot) => draw(plot, theme)));
  const current = () => (darkness.matches ? themes.dark : themes.light);

  drawAll(current()).then(() => { document.documentElement.dataset.drawn = String(plots.length); });
  darkness.addEventListener("change", () => drawAll(current()));
  window.addEventListener("beforeprint", () => drawAll(themes.light));
  window.addEventListener("afterprint", () => drawAll(current()));

  // The arrow keys turn a surface that has the focus.
  const turn = (plot, around, up) => {
    const { eye } = plot.layout.scene.camera;
    const [c, s] = [Math.cos(around), Math.sin(around)];
    const z = Math.max(-3, Math.min(3, eye.z + up));
    Plotly.relayout(plot, { "scene.camera.eye": { x: c * eye.x - s * eye.y, y: s * eye.x + c * eye.y, z } });
  };
  const keys = { ArrowLeft: [0.15, 0], ArrowRight: [-0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
  for (const plot of plots.filter((p) => figures[p.dataset.figure].layout.scene)) {
    plot.addEventListener("keydown", (event) => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      turn(plot, ...keys[event.key]);
    });
  }
})();
