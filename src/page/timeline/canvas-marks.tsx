/** Marks of a timeline that are too many for elements, on a canvas. The list of calls below names them. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type Mark, markAt } from './marks.js';
import { isSameStep, type StepPoint } from './model.js';

interface CanvasMarksProps {
  marks: readonly Mark[];
  width: number;
  height: number;
  step: StepPoint | undefined;
  onChoose: (step: StepPoint) => void;
}

export function CanvasMarks({ marks, width, height, step, onChoose }: CanvasMarksProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const scale = devicePixelRatio;
    element.width = width * scale;
    element.height = height * scale;
    context.scale(scale, scale);
    draw(context, marks, { style: getComputedStyle(element), step });
  });
  const under = useMemo(
    () =>
      ({ offsetX, offsetY }: MouseEvent): Mark | undefined =>
        markAt(marks, offsetX, offsetY),
    [marks],
  );
  return (
    <canvas
      class="timeline-canvas"
      ref={canvas}
      role="img"
      aria-label={`${marks.length} marks; the calls are listed below`}
      style={{ width: `${width}px`, height: `${height}px` }}
      onClick={(event) => {
        const mark = under(event);
        if (mark) onChoose(mark.step);
      }}
      onMouseMove={(event) => {
        const mark = under(event);
        event.currentTarget.title = mark?.text ?? '';
        event.currentTarget.style.cursor = mark ? 'pointer' : '';
      }}
    />
  );
}

/** Room that a text needs at least, in pixels. */
const leastTextRoom = 40;

interface Look {
  /** Has the colours of the theme. */
  style: CSSStyleDeclaration;
  step: StepPoint | undefined;
}

function draw(context: CanvasRenderingContext2D, marks: readonly Mark[], { style, step }: Look): void {
  const colours = new Map<string, string>();
  const colour = (name: string): string => {
    const known = colours.get(name) ?? style.getPropertyValue(`--${name}`).trim();
    colours.set(name, known);
    return known;
  };
  context.font = `500 11px ${colour('sans')}`;
  for (const { left, top, width, height, health, isOpen, text, step: own } of marks) {
    const isChosen = isSameStep(own, step);
    const ink = health ? colour(health) : colour(isChosen ? 'ink' : 'muted');
    context.globalAlpha = health ? 0.16 : 1;
    context.fillStyle = ink;
    context.fillRect(left, top, width, height);
    context.globalAlpha = 1;
    if (!health) continue;
    context.setLineDash(isOpen ? [4, 3] : []);
    context.strokeStyle = isChosen ? colour('ink') : ink;
    context.lineWidth = isChosen ? 2 : 1;
    if (width > 2) context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    if (width < leastTextRoom) continue;
    context.fillStyle = colour('ink');
    context.fillText(text, left + 7, top + 18, width - 12);
  }
}
