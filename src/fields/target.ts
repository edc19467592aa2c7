import type { LiveTarget } from "../model/live.ts";
import { field, NAME, readable, TEXT, URL_TEXT } from "./field.ts";
import type { Field } from "./field.ts";

/** service-api.md, "Test target" and operations 2 and 4. */
export const TARGET_FIELDS: readonly Field<LiveTarget>[] = [
  field("app", {
    shape: NAME,
    behaviour: readable((live) => live.app),
    create: "app",
    update: "app",
    description: "App or project name on the service. A target that is not bound yet is found by it.",
  }),
  field("testIdAttribute", {
    shape: TEXT,
    behaviour: { kind: "writeOnly" },
    update: "testIdAttribute",
    description: "Attribute name by which the service locates elements, `data-testid` for example.",
  }),
  field("timeoutPerStep", {
    shape: { type: "integer", minimum: 0 },
    behaviour: { kind: "writeOnly" },
    update: "timeoutPerStep",
    description: "Time limit of each step. The interface gives no unit.",
  }),
  field("trackerIntegration", {
    shape: {
      type: "object",
      parts: {
        domain: { shape: URL_TEXT, description: "Address of the test-management tracker." },
        username: { shape: TEXT, description: "User that the service signs in as." },
        projectId: { shape: TEXT, description: "Project in the tracker; quote it if it is a number." },
        apiKey: {
          shape: TEXT,
          secret: true,
          description: "The tracker's API key, from `${secret:…}` or `${file:…}`.",
        },
      },
    },
    behaviour: { kind: "writeOnly" },
    update: "trackerIntegration",
    description:
      "Integration with an external test-management tracker. All declared parts are sent together.",
  }),
];
