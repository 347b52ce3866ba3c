import IssuerSimulation
import JSONCoding
import OpenIDConnect
import Testing

@Suite(
  .serialized,
  .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"))
struct IssuerInBrowserTests {
  @Test(
    "the window goes to the issuer and back, and the app gets its token",
    arguments: [IssuerSettings.ResponseMode.query, .formPost])
  func signsIn(_ mode: IssuerSettings.ResponseMode) async throws {
    let issuer = try SimulatedIssuer(
      SimulatedIssuer.Behaviour(keyID: "key", key: .makeCurve()), host: "localhost")
    do {
      let settings = IssuerSettings(
        issuer: issuer.url, clientID: "client", credential: .secret("secret"), label: "Test",
        responseMode: mode)
      try await BrowserCloud.run(issuer: settings) { cloud in
        try await cloud.open(apiToken: try await cloud.addAPIToken())
        _ = try await cloud.browser.run("return app.setUpAuth();")
        let window = try await cloud.openSignIn()
        try await cloud.browser.click("button[formaction]")
        try await cloud.comeBack(to: window)
        let caller = try await cloud.call("public/users/caller")
        let user = try await cloud.store.accounts.users().first { $0.name != "anna" }
        #expect(caller["json"]?["userRecordName"]?.string == user?.userRecordName)
        #expect(user?.name == "test:248289761001")
        #expect(issuer.log.requests["/token"] == 1)
      }
    } catch {
      await issuer.stop()
      throw error
    }
    await issuer.stop()
  }
}
