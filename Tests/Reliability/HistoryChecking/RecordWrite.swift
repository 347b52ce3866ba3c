/// A save or a deletion of one record, as its client saw it.
public struct RecordWrite: Codable, Sendable {
  public enum Effect: Codable, Hashable, Sendable {
    /// A save that leaves this mark in the record. No two saves of a history leave the same.
    case save(mark: String)
    case delete
  }

  /// The condition on the record under which the write is carried out.
  public enum Condition: Codable, Hashable, Sendable {
    case none
    case absent
    case tag(String)
  }

  public enum Outcome: Codable, Hashable, Sendable {
    /// It was acknowledged; a save with the record's new tag.
    case done(tag: String?)
    /// The record did not satisfy the condition. The value is the record's state, if the server
    /// reported it.
    case refused(Sight?)
    /// It was not carried out, for a reason that says nothing of the record.
    case notDone
    /// No answer came: it may have been carried out, or still be.
    case unknown
  }

  public var user: String
  public var device: String
  public var key: RecordKey
  public var effect: Effect
  public var condition: Condition
  public var span: Span
  public var outcome: Outcome
  /// Writes with the same number are one atomic request.
  public var group: Int?
  /// The topics of the write: it fires the subscriptions with one of them.
  public var topics: Set<String>

  public init(
    user: String, device: String, key: RecordKey, effect: Effect, condition: Condition, span: Span,
    outcome: Outcome, group: Int? = nil, topics: Set<String> = []
  ) {
    self.user = user
    self.device = device
    self.key = key
    self.effect = effect
    self.condition = condition
    self.span = span
    self.outcome = outcome
    self.group = group
    self.topics = topics
  }

  public var mark: String? {
    if case .save(let mark) = effect { mark } else { nil }
  }
}

/// One look at one record.
public struct RecordRead: Codable, Sendable {
  public var user: String
  public var key: RecordKey
  public var span: Span
  public var sight: Sight

  public init(user: String, key: RecordKey, span: Span, sight: Sight) {
    self.user = user
    self.key = key
    self.span = span
    self.sight = sight
  }
}
