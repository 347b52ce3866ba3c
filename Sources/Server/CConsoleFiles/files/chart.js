// Lines over the last minutes, drawn as SVG.

const space = 'http://www.w3.org/2000/svg';
const height = 180, left = 48, bottom = 22, top = 10, right = 8;

function s(tag, attributes, text) {
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** The next of 1, 2, 5, 10, 20, … */
function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((bound) => bound >= value);
}

/**
 * @param series [{ name, values: [number | null] }], all of one length, the latest last
 * @param format how a value is written
 */
export function chart(title, series, { seconds, width, format = (value) => String(value) }) {
  const count = seconds + 1;
  const all = series.flatMap((line) => line.values).filter((value) => value !== null && isFinite(value));
  const highest = ceiling(Math.max(0, ...all));
  const x = (index, length) => left + (width - left - right) * ((count - length + index) / (count - 1));
  const y = (value) => top + (height - top - bottom) * (1 - value / highest);
  const latest = series.map((line) => {
    const value = line.values.findLast((value) => value !== null);
    return `${line.name} ${value === undefined ? 'none yet' : format(value)}`;
  });
  const picture = s('svg', {
    viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `${title}, now: ${latest.join(', ')}`,
  });
  for (const part of [0, 0.5, 1]) {
    picture.append(
      s('line', { class: 'grid', x1: left, x2: width - right, y1: y(highest * part), y2: y(highest * part) }),
      s('text', { x: left - 6, y: y(highest * part) + 4, 'text-anchor': 'end' }, format(highest * part)));
  }
  picture.append(
    s('text', { x: left, y: height - 5 }, seconds < 120 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`),
    s('text', { x: width - right, y: height - 5, 'text-anchor': 'end' }, 'now'));
  series.forEach((line, place) => {
    let points = [];
    const draw = () => {
      if (points.length) picture.append(s('polyline', { class: `s${place + 1}`, points: points.join(' ') }));
      points = [];
    };
    line.values.forEach((value, index) => {
      if (value === null) return draw();
      points.push(`${x(index, line.values.length).toFixed(1)},${y(value).toFixed(1)}`);
    });
    draw();
  });
  return picture;
}
