import { localFixture } from "./support/local-fixture.ts";
import { describeBackend } from "./support/suite.ts";

describeBackend("local", localFixture);
