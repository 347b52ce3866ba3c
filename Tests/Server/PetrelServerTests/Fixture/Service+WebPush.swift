import Foundation
import Testing
import WebPushSimulation

@testable import PetrelServer

/// Runs `body` with a server whose Web Push goes to this machine, and a push service there.
func withPushService(
  _ settings: ServiceSettings = ServiceSettings(),
  _ body: (Service, SimulatedPushService) async throws -> Void
) async throws {
  let folder = NSTemporaryDirectory() + "petrel-push-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  let push = try SimulatedPushService(folder: folder)
  var settings = settings
  settings.webPush = .toThisMachine(trusting: push.authorityFile)
  do {
    try await withService(settings) { try await body($0, push) }
  } catch {
    await push.stop()
    throw error
  }
  await push.stop()
}

extension Service {
  /// Registers a browser as a device of a user, by default Alice.
  func register(
    _ browser: BrowserSubscription, as user: TestUser? = nil, device: String = "tab"
  ) async throws {
    let answer = try await post(
      "webPush/register",
      #"{"subscription": {"endpoint": "\#(browser.endpoint)", "expirationTime": null, "keys": "#
        + #"{"p256dh": "\#(browser.p256dh)", "auth": "\#(browser.auth)"}}, "clientId": "\#(device)"}"#,
      as: user ?? alice)
    try #require(answer.status == 200, "\(answer.json)")
  }
}
