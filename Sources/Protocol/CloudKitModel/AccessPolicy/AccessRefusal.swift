/// The refusal of one action on the records of one type.
///
/// ``reason(for:)`` returns the refusal as text. The server uses the text in the error
/// `ACCESS_DENIED` and to explain why a notification was not sent.
public struct AccessRefusal: Sendable, Hashable {
  /// An action on records.
  public enum Action: Sendable, Hashable, CaseIterable {
    /// Reading one record.
    case read
    /// Finding records of the type. A refusal means that the caller may read none of these records.
    case query
    /// Saving a record that does not exist yet.
    case create
    /// Changing or deleting an existing record.
    case write
  }

  /// The refused action.
  public let action: Action
  /// The type of the record, or the record type of the query.
  public let recordType: String

  /// Creates the refusal of an action on records of a type.
  public init(_ action: Action, recordType: String) {
    self.action = action
    self.recordType = recordType
  }

  /// Returns the reason as text, such as "no role of this caller has READ for it".
  ///
  /// - Parameter caller: The words for the refused caller in the text.
  public func reason(for caller: String = "this caller") -> String {
    switch action {
    case .read: "no role of \(caller) has READ for it"
    case .query: "no role of \(caller) has READ for record type '\(recordType)'"
    case .create: "no role of \(caller) has CREATE for record type '\(recordType)'"
    case .write:
      "no role of \(caller) has WRITE for it; by default only the user who created a record has"
    }
  }
}
