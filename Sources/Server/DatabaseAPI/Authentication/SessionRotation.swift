import CloudKitModel
import StoreModel

/// The state of one session token: it decides when the token gets a successor. It does no I/O.
///
/// A token that is a minute old gets a successor at its next request. Both tokens are accepted
/// until a request brings the successor. That request proves that the client has received it. From
/// then on all older tokens of the session live for the grace time only.
///
/// A lost answer therefore costs nothing, and a client that keeps one token can use it while it
/// lives. A session causes at most two writes a minute.
struct SessionRotation: Sendable {
  /// The age in seconds at which a token in use gets a successor.
  static let interval = 60.0
  /// Seconds for which older tokens are accepted after the first use of a successor.
  static let grace = 600.0

  /// An event of the token.
  enum Event: Sendable {
    /// A request has brought the token, which the store has in this state.
    case request(WebAuthToken, now: Timestamp)
    /// The store has done the last action. `successor` is the one that was added, if there was one.
    case done(successor: Successor?)
    /// The store has failed to do the last action.
    case failed
  }

  /// The work for the store.
  enum Action: Sendable, Hashable {
    /// Nothing to do.
    case nothing
    /// Write to the store: mark the token as used, or add a successor, or both.
    case write(adopts: Bool, makesSuccessor: Bool)
  }

  /// A token that follows another.
  struct Successor: Sendable, Hashable {
    /// The token's text.
    var text: String
    /// The time when the server made it.
    var created: Timestamp
  }

  /// The token that the client must use next; nil if it keeps this one.
  private(set) var successor: Successor?
  /// Whether the store has marked the token as used.
  private var isAdopted = false
  /// Whether a write is under way. Until it ends, requests cause no further one.
  private var isWriting = false

  /// Takes an event and returns the work for the store.
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

  /// Whether there is no successor that is still worth giving out: there is none, or it is older
  /// than a quarter of the session's lifetime.
  private func isStale(now: Timestamp, lifetime: Double) -> Bool {
    guard let successor else { return true }
    return now.seconds - successor.created.seconds >= lifetime / 4
  }
}
