import { parseAddress } from "../../model/address.ts";
import type { Address } from "../../model/address.ts";
import type { DesiredTarget, Move } from "../../model/desired.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { circlesIn } from "../circles.ts";
import { resourcesOf } from "../../model/desired.ts";
import type { TargetSubject } from "./subject.ts";

type MoveRule = (target: DesiredTarget) => readonly ManifestProblem[];

const RULES: readonly MoveRule[] = [
  movesStayInTheTarget,
  movesKeepTheKind,
  movesBeginOnce,
  movesEndOnce,
  movesDoNotCircle,
  movedIsNotDeclared,
];

/** The `moved:` entries of a target. */
export function movesMakeSense({ target }: TargetSubject): readonly ManifestProblem[] {
  return target.moved.length === 0 ? [] : RULES.flatMap((rule) => rule(target));
}

function movesStayInTheTarget({ key, moved }: DesiredTarget): readonly ManifestProblem[] {
  return moved.flatMap((move) =>
    [move.from, move.to]
      .filter((address) => parseAddress(address)?.target !== key)
      .map((address) =>
        about(
          move,
          "move-elsewhere",
          `${address} is not of target ${key}`,
          "`moved` renames inside of one target. Between targets, or for a target itself: `tasc state mv FROM TO`.",
          address === move.from ? "from" : "to",
        ),
      ),
  );
}

function movesKeepTheKind({ moved }: DesiredTarget): readonly ManifestProblem[] {
  return moved
    .filter(({ from, to }) => parseAddress(from)?.kind !== parseAddress(to)?.kind)
    .map((move) =>
      about(
        move,
        "move-kind",
        `${move.from} cannot become ${move.to}`,
        "They are of different kinds, and the service cannot turn one into the other.",
        "to",
      ),
    );
}

function movesBeginOnce({ moved }: DesiredTarget): readonly ManifestProblem[] {
  return repeated(moved, ({ from }) => from).map(([move, first]) =>
    about(
      move,
      "move-twice",
      `${move.from} is moved twice`,
      `It cannot become both ${first.to} and ${move.to}.`,
      "from",
      first,
    ),
  );
}

function movesEndOnce({ moved }: DesiredTarget): readonly ManifestProblem[] {
  return repeated(moved, ({ to }) => to).map(([move, first]) =>
    about(
      move,
      "move-twice",
      `Two addresses are moved to ${move.to}`,
      `${first.from} and ${move.from} cannot both become it.`,
      "to",
      first,
    ),
  );
}

/** Moves that have a key of an earlier one, each with that. */
function repeated(
  moved: readonly Move[],
  keyOf: (move: Move) => Address,
): readonly (readonly [Move, Move])[] {
  const firsts = new Map<Address, Move>();
  return moved.flatMap((move): [Move, Move][] => {
    const first = firsts.get(keyOf(move));
    if (first !== undefined) return [[move, first]];
    firsts.set(keyOf(move), move);
    return [];
  });
}

function movesDoNotCircle({ moved }: DesiredTarget): readonly ManifestProblem[] {
  const next = new Map(moved.map(({ from, to }) => [from, to]));
  return circlesIn(next).flatMap((circle) => {
    const move = moved.find(({ from }) => from === circle[0]);
    if (move === undefined) return [];
    const detail = `Each of these is moved to the next: ${circle.join(" → ")}. Take one of the moves out.`;
    return [about(move, "move-cycle", "The moves go in a circle", detail, "from")];
  });
}

function movedIsNotDeclared(target: DesiredTarget): readonly ManifestProblem[] {
  const declared = new Set(resourcesOf(target).map(({ address }) => address));
  return target.moved
    .filter(({ from, to }) => from !== to && declared.has(from))
    .map((move) =>
      about(
        move,
        "move-of-declared",
        `${move.from} is still declared`,
        `\`moved\` says that it is now ${move.to}. Take out its declaration, or the move.`,
        "from",
      ),
    );
}

function about(
  { origin }: Move,
  code: string,
  summary: string,
  detail: string,
  side: "from" | "to",
  related?: Move,
): ManifestProblem {
  return manifestError(
    code,
    { ...origin, path: [...origin.path, side] },
    summary,
    detail,
    related === undefined ? {} : { related: related.origin },
  );
}
