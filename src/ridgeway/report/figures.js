// Figures of a belief, drawn with Plotly: for the report and for the live page.
const RidgewayFigures = (() => {
  "use strict";
  const coarse = window.matchMedia("(pointer: coarse)");
  // Plotly's buttons are for a pointer that can rest on a plot; a finger cannot, and needs none of them.
  const config = () => ({
    responsive: true, displaylogo: false, displayModeBar: coarse.matches ? false : "hover",
    modeBarButtonsToRemove: ["lasso2d", "select2d"],
  });

  // A surface is seen from farther away on a phone, so that its axes are not cut.
  const away = (eye, plot) => {
    const factor = plot.clientWidth < 480 ? 1.45 : 1.1;
    return { x: factor * eye.x, y: factor * eye.y, z: factor * eye.z };
  };

  const draw = (plot, { data, layout }, theme, width) => {
    // On a touch screen a finger that scrolls the page must not zoom a plot.
    const dragmode = layout.scene ? undefined : coarse.matches ? false : "zoom";
    const height = layout.scene && plot.clientWidth < 480 ? 340 : layout.height;
    plot.style.height = `${height}px`;
    const scene = layout.scene && { scene: { ...layout.scene, camera: { eye: away(layout.scene.camera.eye, plot) } } };
    const drawn = Plotly.react(plot, data, { ...layout, ...scene, height, template: theme, ...(width ? { width } : { autosize: true }), ...(dragmode === undefined ? {} : { dragmode }) }, config());
    // Plotly's own buttons would be a dozen stops for the keyboard that nobody sees.
    return drawn.then(() => plot.querySelectorAll(".modebar-btn").forEach((button) => { button.tabIndex = -1; }));
  };

  // The arrow keys turn a surface that has the focus.
  const turn = (plot, around, up) => {
    const { eye } = plot.layout.scene.camera;
    const [c, s] = [Math.cos(around), Math.sin(around)];
    const z = Math.max(-3, Math.min(3, eye.z + up));
    Plotly.relayout(plot, { "scene.camera.eye": { x: c * eye.x - s * eye.y, y: s * eye.x + c * eye.y, z } });
  };
  const keys = { ArrowLeft: [0.15, 0], ArrowRight: [-0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
  const turnable = (plot) => plot.addEventListener("keydown", (event) => {
    if (!(event.key in keys)) return;
    event.preventDefault();
    turn(plot, ...keys[event.key]);
  });

  return { away, draw, turnable };
})();
