"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const LIGHT = ["#1f5fbf", "#b4530a", "#1a7340", "#8b3fa8", "#b42318", "#0f7f8c", "#8a6d00", "#5b6572"];
const DARK = ["#86b4ff", "#ffb074", "#6fce94", "#d59bf0", "#ff8a7d", "#6fd3df", "#e8cf6a", "#b5bec8"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const config = { displaylogo: false, responsive: true };

// Below 700 px names of processes fill the plot if they share a line.
function rows(seen, width) {
  const wide = seen.reduce((most, trace) => Math.max(most, trace.name.length * 7 + 60), 1);
  return Math.ceil(seen.length / Math.max(1, Math.floor((width - 80) / wide)));
}

function layout(unit, seen, width) {
  const below = 64 + 20 * rows(seen, width);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line"), rangemode: "tozero" };
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour("--text"), family: style.fontFamily },
    colorway: dark.matches ? DARK : LIGHT,
    height: 260 + below,
    margin: { l: width < 500 ? 48 : 64, r: 8, t: 36, b: below },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--faint"), activecolor: colour("--text") },
    hoverlabel: { bgcolor: colour("--panel"), font: { color: colour("--text") } },
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom" },
    showlegend: true,
    xaxis: { ...axis, title: { text: "seconds since the start" } },
    yaxis: { ...axis, title: { text: unit } },
  };
}

function draw(id, traces, unit) {
  const element = document.getElementById(id);
  const seen = traces.filter((trace) => trace.y.some((value) => value !== null));
  element.classList.toggle("empty", seen.length === 0);
  if (seen.length === 0) {
    element.textContent = "No measurements.";
    return;
  }
  Plotly.react(element, seen, layout(unit, seen, element.clientWidth), config);
}

function over(measure) {
  return data.processes.map((one) => ({
    x: one.at, y: one[measure], name: one.name, text: one.process, mode: "lines+markers", marker: { size: 4 }, line: { width: 2 },
  }));
}

function waits() {
  return data.loaders.flatMap((one) => [
    { x: one.at, y: one.wait, name: one.name + " waits", mode: "markers", marker: { size: 6 } },
    { x: one.at, y: one.step, name: one.name + " works", mode: "markers", marker: { size: 6, symbol: "x" } },
  ]);
}

function drawAll() {
  draw("memory", over(document.querySelector("input[name=measure]:checked").value), "MiB");
  draw("threads", over("threads"), "threads");
  draw("descriptors", over("descriptors"), "descriptors");
  draw("waits", waits(), "ms");
}

async function unpack() {
  const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
}

async function start() {
  if (typeof DecompressionStream === "undefined") {
    document.getElementById("no-charts").hidden = false;
    return;
  }
  await unpack();
  drawAll();
  document.querySelectorAll("input[name=measure]").forEach((one) => one.addEventListener("change", drawAll));
  dark.addEventListener("change", drawAll);
  addEventListener("resize", drawAll);
  document.body.dataset.drawn = "yes";
}
start();
