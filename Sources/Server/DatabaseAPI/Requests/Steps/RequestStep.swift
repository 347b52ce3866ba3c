import CloudKitModel
import HTTPService
import Storage
import StoreModel
import WebServices

/// A step that each request for an operation passes before the operation answers it.
///
/// ``ClientAPI/steps`` lists the steps in their order. Those before the first step that awaits the body
/// need only the head, so they run before the server receives a large body.
protocol RequestStep: Sendable {
  /// Whether the step of this request needs the whole request.
  func awaitsBody(of request: ClientRequest) -> Bool
  /// Carries out the step. Its error refuses the request.
  func pass(_ request: inout ClientRequest) async throws
}

extension RequestStep {
  func awaitsBody(of request: ClientRequest) -> Bool { false }
}

/// Finds the identity that the head claims: the caller, or a signature that the body has to prove.
struct IdentityStep: RequestStep {
  let authenticator: Authenticator

  func pass(_ request: inout ClientRequest) async throws {
    switch try await authenticator.identity(of: request.http, for: request.path) {
    case .proven(let credentials): request.credentials = credentials
    case .signed(let signed, let keys): request.signature = (signed, keys)
    }
  }
}

/// Checks the signature of a server-to-server key, which covers the body.
struct SignatureStep: RequestStep {
  let authenticator: Authenticator

  func awaitsBody(of request: ClientRequest) -> Bool { request.signature != nil }

  func pass(_ request: inout ClientRequest) throws {
    guard let signature = request.signature else { return }
    request.credentials = try authenticator.credentials(
      of: (signature.signed, signature.keys), request.http, for: request.path,
      onlyReads: request.operation.effect == .reads)
  }
}

/// Counts the request for its caller and its API token, and refuses it above their rates.
struct ThrottleStep: RequestStep {
  let throttle: RequestThrottle
  /// The header field in which a proxy writes the client's address; nil without a configured proxy.
  let addressHeader: String?
  let clock: @Sendable () -> Timestamp

  func pass(_ request: inout ClientRequest) async throws {
    guard let credentials = request.credentials else { return }
    let caller =
      switch credentials.caller {
      case .anonymous, .administrator: address(of: request.http)
      case .user(let name): RequestThrottle.Key(subject: .user, name: name)
      case .serverKey(let keyID, _): RequestThrottle.Key(subject: .serverKey, name: keyID)
      }
    let token = credentials.apiToken.map {
      RequestThrottle.Key(subject: .apiToken, name: $0.identifier)
    }
    try await throttle.admit([caller] + (token.map { [$0] } ?? []), at: clock())
    request.turnKey = caller
  }

  /// Counts the failed request of an unknown caller for its network address, so that nobody can try
  /// tokens without a limit.
  ///
  /// - Throws: `THROTTLED` if the address has used up its rate; `StoreError` if the store cannot count
  ///   the request.
  func admitUnknownCaller(of request: HTTPRequest) async throws {
    try await throttle.admit([address(of: request)], at: clock())
  }

  private func address(of request: HTTPRequest) -> RequestThrottle.Key {
    RequestThrottle.Key(
      subject: .address, name: ClientAddress.network(of: request, header: addressHeader))
  }
}

/// Refuses an operation that the caller may not call. `AccessPolicy` decides later about single records.
struct AccessStep: RequestStep {
  func pass(_ request: inout ClientRequest) throws {
    guard let caller = request.credentials?.caller,
      let refusal = AccessPolicy.refusal(
        of: caller, calling: request.operation, in: request.path.scope)
    else { return }
    throw refusal
  }
}

/// Marks the signature as used in the store, unless the operation's effect says otherwise.
struct SignatureUseStep: RequestStep {
  let store: CredentialService

  // A signature is used by the request that is carried out, so the whole request must be there.
  func awaitsBody(of request: ClientRequest) -> Bool { true }

  func pass(_ request: inout ClientRequest) async throws {
    guard request.operation.effect == .changes else { return }
    try await request.credentials?.signature?.spend(in: store)
  }
}
