import { type Read, list, object } from "../read/reader.ts";
import { environmentReader } from "./environment.ts";
import { folderReader } from "./folder.ts";
import { generationReader } from "./generation.ts";
import { notificationReader } from "./notification.ts";
import { testCaseReader } from "./testCase.ts";
import { testReportReader } from "./testReport.ts";
import { testTargetReader } from "./testTarget.ts";
import type { World } from "./world.ts";

/**
 * Everything the service keeps, as one document: what `GET /control/data` shows and seeds are written in. Most
 * fields may be left out; the readers fill in what a fresh resource would have.
 */
export const dataReader = (world: World) =>
  object((fields) => ({
    testTargets: fields.optional("testTargets", list(testTargetReader(world))) ?? [],
    environments: fields.optional("environments", list(environmentReader(world))) ?? [],
    folders: fields.optional("folders", list(folderReader)) ?? [],
    testCases: fields.optional("testCases", list(testCaseReader(world))) ?? [],
    testReports: fields.optional("testReports", list(testReportReader(world))) ?? [],
    notifications: fields.optional("notifications", list(notificationReader(world))) ?? [],
    generations: fields.optional("generations", list(generationReader)) ?? [],
  }));

export type Data = Read<ReturnType<typeof dataReader>>;
export type Kind = keyof Data;
