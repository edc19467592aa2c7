import type { LiveEnvironment } from "../model/live.ts";
import { field, readable, TEXT, URL_TEXT } from "./field.ts";
import type { Field, Part } from "./field.ts";

const username: Part = { shape: TEXT, description: "User name." };
const password: Part = {
  shape: TEXT,
  secret: true,
  description: "Password, from `${secret:…}` or `${file:…}`.",
};

/**
 * service-api.md, "Environment" and operations 5 and 6. A plan reads environments from the list of targets,
 * which shows nothing but their type and URL; the rest is write-only to us.
 */
export const ENVIRONMENT_FIELDS: readonly Field<LiveEnvironment>[] = [
  field("name", {
    shape: { type: "string", minLength: 1 },
    nullable: true,
    behaviour: { kind: "writeOnly" },
    create: "name",
    update: "name",
    description: "Name on the service. Left out, a creation sends the environment's key.",
  }),
  field("discoveryUrl", {
    shape: URL_TEXT,
    nullable: true,
    behaviour: readable((live) => live.discoveryUrl ?? null, "url"),
    create: "discoveryUrl",
    update: "discoveryUrl",
    description:
      "Where the application runs. An additional environment that is not bound yet is found by it.",
  }),
  field("testAccount", {
    shape: {
      type: "object",
      parts: {
        username,
        password,
        otpInitializerKey: {
          shape: TEXT,
          secret: true,
          description: "Key of the one-time-password generator, from `${secret:…}` or `${file:…}`.",
        },
      },
    },
    nullable: true,
    behaviour: { kind: "writeOnly" },
    create: "testAccount",
    update: "testAccount",
    description:
      "Account that the tests sign in with. All declared parts are sent together; null removes it.",
  }),
  field("basicAuth", {
    shape: { type: "object", parts: { username, password } },
    nullable: true,
    behaviour: { kind: "writeOnly" },
    create: "basicAuth",
    update: "basicAuth",
    description:
      "HTTP basic authentication of the environment. All declared parts are sent together; null removes it.",
  }),
  field("privateLocationName", {
    shape: { type: "string", minLength: 1 },
    nullable: true,
    behaviour: { kind: "writeOnly" },
    create: "privateLocationName",
    update: "privateLocationName",
    description: "Name of the private location that runs the tests.",
  }),
  field("additionalHeaderFields", {
    shape: { type: "map", of: TEXT, sensitive: true },
    nullable: true,
    behaviour: { kind: "writeOnly" },
    create: "additionalHeaderFields",
    update: "additionalHeaderFields",
    description:
      "Extra HTTP header fields, name to value. Values never show. All are sent together; null removes them.",
  }),
];
