import { type Read, nullable, object } from "../read/reader.ts";
import { dateTime, flag, freeForm, oneOf, text, uuid, webUrl } from "../read/values.ts";
import type { World } from "./world.ts";

export const environmentType = oneOf("DEFAULT", "ADDITIONAL");

const testAccountReader = (world: World) =>
  object((fields) => ({
    username: fields.optional("username", text),
    password: fields.optional("password", text),
    otpInitializerKey: fields.optional("otpInitializerKey", text),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
  }));

const basicAuthReader = (world: World) =>
  object((fields) => ({
    username: fields.optional("username", text),
    password: fields.optional("password", text),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
  }));

const privateLocationReader = (world: World) =>
  object((fields) => ({
    id: fields.optional("id", uuid) ?? world.newId(),
    name: fields.required("name", text),
    status: fields.optional("status", text) ?? "ACTIVE",
    type: fields.optional("type", text) ?? "PRIVATE",
  }));

/**
 * An environment as stored (Environment). `name` is what a request gave: the text calls it a string in requests and
 * an enumeration in answers, so what is answered is decided where answers are made.
 */
export const environmentReader = (world: World) =>
  object((fields) => ({
    id: fields.required("id", uuid),
    testTargetId: fields.required("testTargetId", uuid),
    name: fields.optional("name", nullable(text)) ?? null,
    type: fields.required("type", environmentType),
    discoveryUrl: fields.optional("discoveryUrl", webUrl),
    additionalHeaderFields: fields.optional("additionalHeaderFields", nullable(freeForm)) ?? null,
    testAccount: fields.optional("testAccount", nullable(testAccountReader(world))) ?? null,
    basicAuth: fields.optional("basicAuth", nullable(basicAuthReader(world))) ?? null,
    emailDomain: fields.optional("emailDomain", text),
    emailPrefix: fields.optional("emailPrefix", text),
    enableCrossOriginIframes: fields.optional("enableCrossOriginIframes", flag) ?? false,
    privateLocation: fields.optional("privateLocation", privateLocationReader(world)),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
  }));

export type Environment = Read<ReturnType<typeof environmentReader>>;
export type PrivateLocation = Read<ReturnType<typeof privateLocationReader>>;
