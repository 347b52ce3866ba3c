import CloudKitModel
import Foundation
import IssuerSimulation
import OpenIDConnect
import Synchronization
import Testing

/// A simulated issuer, and this project's side of it.
struct IssuerFixture: Sendable {
  static let rsa = SigningKey.makeRSA()

  let issuer: Issuer
  let simulation: SimulatedIssuer
  let clock: MovableClock

  /// Signs in as a browser would, and answers who it was.
  func signIn(nonce: String = "n-1", expecting expected: String? = nil) async throws
    -> IssuerIdentity
  {
    let request = AuthorizationRequest(
      redirectURL: "http://client.invalid/from/test", state: "s", nonce: nonce,
      verifier: String(repeating: "v", count: 43))
    let answer = simulation.signIn(at: try await issuer.url(for: request))
    var returned = request
    returned.nonce = expected ?? nonce
    return try await issuer.identity(forCode: answer["code"] ?? "", of: returned)
  }

  /// The failure of a sign-in; nil when it works.
  func failure(nonce: String = "n-1", expecting expected: String? = nil) async -> OpenIDError? {
    do {
      _ = try await signIn(nonce: nonce, expecting: expected)
      return nil
    } catch {
      return error as? OpenIDError
    }
  }
}

/// A clock that tests move.
final class MovableClock: Sendable {
  private let offset = Mutex(0.0)
  func advance(bySeconds seconds: Double) { offset.withLock { $0 += seconds } }
  var now: Timestamp { Timestamp.now.advanced(bySeconds: offset.withLock { $0 }) }
}

func withIssuer(
  key: SigningKey = IssuerFixture.rsa, credential: IssuerSettings.Credential = .secret("secret"),
  _ body: (IssuerFixture) async throws -> Void
) async throws {
  let simulation = try SimulatedIssuer(SimulatedIssuer.Behaviour(keyID: "first", key: key))
  let clock = MovableClock()
  let settings = IssuerSettings(
    issuer: simulation.url, clientID: "client", credential: credential, label: "Test")
  let fixture = IssuerFixture(
    issuer: Issuer(settings, clock: { clock.now }), simulation: simulation, clock: clock)
  do {
    try await body(fixture)
  } catch {
    await simulation.stop()
    throw error
  }
  await simulation.stop()
}
