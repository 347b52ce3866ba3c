import CloudKitModel
import StoreModel

/// Decides when the token of a session gives way to its successor.
///
/// A token that a request brings is followed by another once it is a minute old. Both are good, until
/// a request brings the successor: then the client has it, and all older tokens of the session live
/// on for the grace time only. So an answer that is lost costs nothing, a client that goes on with
/// one token can do so while that lives, and a session causes no more than two writes a minute.
struct SessionRotation: Sendable {
  /// Seconds after which a token that is used gets a successor.
  static let interval = 60.0
  /// Seconds for which older tokens are taken once a successor was used.
  static let grace = 600.0

  enum Event: Sendable {
    /// A request came with the token, which stands so in the store.
    case request(WebAuthToken, now: Timestamp)
    /// The store did what the last action asked for.
    case done(successor: Successor?)
    /// The store could not do it.
    case failed
  }

  enum Action: Sendable, Hashable {
    case nothing
    /// Have the store note the first request with the token, or add a successor, or both.
    case write(adopts: Bool, makesSuccessor: Bool)
  }

  struct Successor: Sendable, Hashable {
    var text: String
    var created: Timestamp
  }

  /// What the client is to use next; nil while it is to go on with this token.
  private(set) var successor: Successor?
  private var isAdopted = false
  private var isWriting = false

  mutating func handle(_ event: Event) -> Action {
    switch event {
    case .request(let token, let now):
      guard let session = token.session, !isWriting else { return .nothing }
      isAdopted = isAdopted || session.isUsed
      let makesSuccessor =
        now.seconds - token.created.seconds >= Self.interval
        && isStale(now: now, lifetime: session.lifetime)
      guard !isAdopted || makesSuccessor else { return .nothing }
      isWriting = true
      return .write(adopts: !isAdopted, makesSuccessor: makesSuccessor)
    case .done(let successor):
      isWriting = false
      isAdopted = true
      self.successor = successor ?? self.successor
      return .nothing
    case .failed:
      isWriting = false
      return .nothing
    }
  }

  /// Whether there is no successor that a client can still make good use of.
  private func isStale(now: Timestamp, lifetime: Double) -> Bool {
    guard let successor else { return true }
    return now.seconds - successor.created.seconds >= lifetime / 4
  }
}
