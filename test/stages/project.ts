import { PROJECT as BASE, LOGIN, type Scene } from "../look/scene.ts";

/** Three stages of one service that differ in every way that manifests allow. */
export const PROJECT = `${BASE.replace("vars: { ", "vars: { path: /login, ")}defaultStage: staging
stages:
  dev: {}
  staging: { vars: { path: /staging } }
  production: { vars: { path: /prod } }
`;

export const MANIFEST = `target: shop
app: Web Shop # the same everywhere
environments: { default: { discoveryUrl: "\${var:url}" } }
defaults: { testCases: { runStatus: "ON", tags: [web] } }
testCases:
  cookie: { description: Accept the cookie banner } # first
  login:
    description: Log in
    # until it is reviewed
    status: DRAFT # really
    entryPointUrlPath: \${var:path}
    discovery: { prompt: "Log in as \${secret:QA_USER}." }
  cart:
    description: Cart total adds up
stages:
  staging:
    testCases:
      login: { status: ENABLED, tags: [web, smoke] }
      cart: { discovery: { prompt: "Check the cart of \${secret:STAGING_USER}." }, folder: Carts }
      only-here: { description: Only here, id: "${LOGIN.replace(/.$/, "9")}" }
  production:
    testCases:
      # mind the night
      login: { runStatus: "OFF", folder: Old } # off
      cart:
        # nobody pays
        status: DISABLED # for now
        discovery: { prompt: "Check \${secret:PROD_USER}." }
`;

export function writeStages(stage: Scene, manifest = MANIFEST): void {
  stage.write("tasc.yaml", PROJECT);
  stage.write("targets/shop.yaml", manifest);
}
