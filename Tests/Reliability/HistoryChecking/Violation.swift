/// Something that must not have happened.
public struct Violation: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The promises of the server (docs/operate/promises.md lists them).
  public enum Promise: Int, Sendable, Codable, CaseIterable {
    case nothingAcknowledgedIsLost = 1
    case atLeastOnce
    case firesOnce
    case notToTheOrigin
    case onlyWhatMayBeRead
    case order
    case atomicity
    /// Promise 8, on feeds that are read to their end, is checked as a part of the first.
    case restart = 9
  }

  public var promise: Promise
  public var text: String

  public init(_ promise: Promise, _ text: String) {
    self.promise = promise
    self.text = text
  }

  public var description: String { "promise \(promise.rawValue): \(text)" }
}
