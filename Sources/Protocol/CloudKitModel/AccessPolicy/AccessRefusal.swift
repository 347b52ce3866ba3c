/// Why a caller may not do something with a record.
public struct AccessRefusal: Sendable, Hashable {
  /// What is done with a record.
  public enum Action: Sendable, Hashable, CaseIterable {
    case read
    /// To find any record of the type.
    case query
    /// To save a record that does not exist yet.
    case create
    /// To change or delete.
    case write
  }

  public let action: Action
  public let recordType: String

  public init(_ action: Action, recordType: String) {
    self.action = action
    self.recordType = recordType
  }

  /// Such as "no role of this caller has READ for it".
  ///
  /// - Parameter caller: who was refused.
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
