import { Secret, UNKNOWN } from "../../../src/model/value.ts";
import { type Situation, liveElement } from "../build.ts";
import {
  LOGIN,
  applied,
  bound,
  CLICK,
  FILL,
  VISIBLE,
  BY_TEXT,
  steps,
  one,
  elementsOf,
  located,
  selectorsOf,
} from "./parts.ts";

/** The steps of a test case. */
export const elements: Readonly<Record<string, Situation>> = {
  "elements: steps inserted, removed, moved and changed": elementsOf(
    [FILL, { ...VISIBLE, ignoreFailure: true }, CLICK],
    [
      CLICK,
      VISIBLE,
      { assertion: { expectation: "HAS_TEXT" } },
      { interaction: { action: "HOVER" } },
    ],
  ),
  "elements: parts cleared and kept": elementsOf(
    [
      { interaction: null, assertion: null },
      { assertion: { expectation: "VISIBLE" } },
      { interaction: { action: "CLICK" } },
      { selectors: [BY_TEXT, { selectorType: "CSS", selector: "#a", options: { b: 1 } }] },
    ],
    [
      { ...CLICK, ...VISIBLE },
      CLICK,
      VISIBLE,
      { ...CLICK, selectors: [{ ...BY_TEXT, options: { exact: true } }] },
    ],
  ),
  "elements: selectors reordered": elementsOf(
    [
      {
        selectors: [
          { selectorType: "CSS", selector: "#a" },
          BY_TEXT,
          { selectorType: "ID", selector: "new" },
        ],
      },
    ],
    [
      {
        ...CLICK,
        selectors: [
          { ...BY_TEXT, options: { n: 1 } },
          { selectorType: "CSS", selector: "#a", options: { n: 2 } },
        ],
      },
    ],
  ),
  "elements: secret, and all removed": elementsOf(
    [{ interaction: { action: "FILL", calledWith: new Secret("pass-word-2") } }],
    [VISIBLE, CLICK],
  ),
  "elements: emptied": elementsOf([], [VISIBLE, CLICK, VISIBLE]),
  "elements: emptied steps": elementsOf([{ interaction: null }, VISIBLE], [CLICK, VISIBLE]),
  "elements: an old secret may be in them": elementsOf([CLICK], [CLICK, VISIBLE], {
    state: [bound(LOGIN, "C1", { secrets: ["elements"] })],
  }),
  "elements: a number too large to be sent back": elementsOf(
    [FILL],
    [{ ...CLICK, selectors: [{ ...BY_TEXT, options: { n: 2 ** 60 } }] }],
  ),
  "elements: who changed them: manifest": elementsOf([CLICK, VISIBLE, FILL], [CLICK, VISIBLE], {
    state: [applied({ elements: [CLICK, VISIBLE] })],
  }),
  "elements: who changed them: service": elementsOf([CLICK, VISIBLE], [CLICK, FILL], {
    state: [applied({ elements: [CLICK, VISIBLE] })],
  }),
  "elements: who changed them: both": elementsOf([CLICK, FILL], [VISIBLE], {
    state: [applied({ elements: [CLICK, VISIBLE] })],
  }),
  "elements: locator lines, new": elementsOf(
    [{ ...CLICK, locatorLine: "getByText('x')" }],
    [CLICK],
  ),
  "elements: locator lines, changed by each side": elementsOf(
    [{ ...CLICK, locatorLine: "b" }],
    [{ ...CLICK, selectors: [BY_TEXT] }],
    { state: [bound(LOGIN, "C1"), located("a", selectorsOf(CLICK))] },
  ),
  "elements: locator lines, changed by the manifest": elementsOf(
    [{ ...CLICK, locatorLine: "b" }],
    [CLICK],
    { state: [bound(LOGIN, "C1"), located("a", selectorsOf(CLICK))] },
  ),
  "elements: locator lines, changed by the service": elementsOf(
    [{ ...CLICK, locatorLine: "a" }],
    [{ ...CLICK, selectors: [BY_TEXT] }],
    { state: [bound(LOGIN, "C1"), located("a", selectorsOf(CLICK))] },
  ),
  "elements: locator lines, as recorded and not read yet": elementsOf(
    [{ ...CLICK, locatorLine: "a" }],
    [{ ...CLICK, selectors: [BY_TEXT] }],
    { state: [bound(LOGIN, "C1"), located("a", "")] },
  ),
  "elements: locator lines with a secret, and a new step": elementsOf(
    [
      { ...CLICK, locatorLine: new Secret("getByText('hidden-1')") },
      { ...VISIBLE, locatorLine: "plain" },
    ],
    [CLICK],
  ),
  "elements: locator lines without ids": one(
    { elements: [{ ...CLICK, locatorLine: "a" }] },
    { elements: steps(CLICK).map((step) => ({ ...step, id: undefined })) },
  ),
  "elements: unknown": elementsOf(UNKNOWN, [CLICK]),
  "elements: counted from one": one(
    { elements: [FILL, CLICK, { selectors: [BY_TEXT] }] },
    {
      elements: [CLICK, { ...VISIBLE, selectors: [{ ...BY_TEXT, selector: "Old", index: 1 }] }].map(
        (parts, at) => liveElement(`e${at}`, at + 1, { ...parts, testCaseId: "C1", near: "x" }),
      ),
    },
  ),
  "elements: without positions": one(
    { elements: [FILL, CLICK] },
    {
      elements: steps(CLICK, VISIBLE).map((one) => ({
        ...one,
        raw: Object.fromEntries(Object.entries(one.raw).filter(([key]) => key !== "index")),
      })),
    },
  ),
  "elements: selectors of which one is new, one moved and one is gone": elementsOf(
    [
      {
        ...CLICK,
        selectors: [
          { selectorType: "CSS", selector: "Pay" },
          { selectorType: "ID", selector: "new" },
          { ...BY_TEXT, options: { exact: false } },
          BY_TEXT,
        ],
      },
    ],
    [
      {
        ...CLICK,
        selectors: [
          { ...BY_TEXT, options: { n: 1 } },
          { selectorType: "XPATH", selector: "//gone", options: { n: 2 } },
          { selectorType: "CSS", selector: "Pay", options: { n: 3 } },
          { ...BY_TEXT, options: { n: 4 } },
        ],
      },
    ],
  ),
  "elements: one more than one equal selector": elementsOf(
    [{ ...CLICK, selectors: [BY_TEXT, BY_TEXT] }, VISIBLE],
    [{ ...CLICK, selectors: [{ ...BY_TEXT, options: { n: 1 } }] }],
  ),
  "elements: an undeclared list of selectors stays whole": elementsOf(
    [CLICK, VISIBLE],
    [{ ...CLICK, selectors: [{ ...BY_TEXT, options: { n: 1 }, near: "x" }] }],
  ),
  "elements: beside a secret, live texts are hidden and numbers are not": elementsOf(
    [{ assertion: { expectation: new Secret("HIDDEN") } }, CLICK],
    [
      {
        ...CLICK,
        ignoreFailure: true,
        selectors: [{ ...BY_TEXT, options: { n: 1, list: ["once", null] } }],
      },
    ],
  ),
};
