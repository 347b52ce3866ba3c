import CloudKitModel
import Cryptography
import Foundation
import HTTPService
import Storage
import Synchronization
import WebServices

/// Finds out who makes a request, by its web auth token.
final class Authenticator: Sendable {
  private struct Known {
    var userRecordName: String
    var expires: Timestamp
    var checked: Timestamp
  }

  /// How long an answer of the store is relied on, in seconds.
  private static let trust = 30.0
  /// Tokens that are remembered.
  private static let capacity = 50_000

  private let store: any RecordStore
  private let clock: @Sendable () -> Timestamp
  private let known = Mutex<[String: Known]>([:])

  init(store: any RecordStore, clock: @escaping @Sendable () -> Timestamp) {
    self.store = store
    self.clock = clock
  }

  /// What a request shows of who sends it.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` for a token that is unknown or has expired.
  func credentials(of request: HTTPRequest) async throws -> Credentials {
    Credentials(caller: try await caller(of: request))
  }

  private func caller(of request: HTTPRequest) async throws -> Caller {
    // Older builds of CloudKit JS call the token ckSession.
    guard let token = request.query("ckWebAuthToken") ?? request.query("ckSession"),
      !token.isEmpty
    else { return .anonymous }
    let now = clock()
    let entry = try await entry(for: token, now: now)
    guard entry.expires > now else {
      throw ServiceError(
        .authenticationFailed,
        "the web auth token expired at \(entry.expires.date.formatted(.iso8601)); sign in again")
    }
    return .user(userRecordName: entry.userRecordName)
  }

  private func entry(for token: String, now: Timestamp) async throws -> Known {
    if let entry = known.withLock({ $0[token] }),
      now.seconds - entry.checked.seconds < Self.trust
    {
      return entry
    }
    guard let stored = try await store.webAuthToken(withHash: Self.hash(of: token)) else {
      throw ServiceError(.authenticationFailed, "the web auth token is not known here")
    }
    let entry = Known(
      userRecordName: stored.userRecordName, expires: stored.expires, checked: now)
    known.withLock { known in
      if known.count >= Self.capacity { known.removeAll() }
      known[token] = entry
    }
    return entry
  }

  /// What the store keeps in place of the token.
  static func hash(of token: String) -> [UInt8] {
    SHA256.hash(token.utf8)
  }
}
