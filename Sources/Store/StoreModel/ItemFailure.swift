import CloudKitModel

/// The reason why the store refused one item of a request: a record, a zone, a subscription or an
/// asset.
///
/// Most calls about several items return each failure in the item's outcome, so the other items can
/// succeed. Calls about a single item throw the failure. A failure of the store as a whole is a
/// ``StoreError``.
public struct ItemFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The server translates the code into an error code of the protocol.
  public enum Code: Sendable, Hashable {
    case invalid
    /// The item that was to be created exists already.
    case exists
    /// The request has another change tag than the stored record, which was changed since.
    case conflict
    case notFound
    case zoneNotFound
    /// The operator of the server has deleted the zone, outside of the app.
    case zoneDeleted
    case accessDenied
    /// The record refers to a record that does not exist: a parent, or the target of a validated
    /// reference.
    case referenceMissing
    /// The record to delete is the parent of a record that would stay.
    case referenced
    /// The record is in the hierarchy of a share, or the zone is shared.
    case alreadyShared
    /// The user who asks for access to a share is invited already.
    case alreadyInvited
    /// The share may be for the user, under an address that the user's account lacks.
    case mayNeedVerification
    case tooManyParticipants
    /// The request belongs to another database.
    case badDatabase
    /// The operation was undone or not made, because another item of the request failed, and both
    /// succeed or fail together.
    case atomic
    case limitExceeded
    case quotaExceeded
    case notReady
  }

  /// The kind of failure.
  public var code: Code
  /// The field at fault; nil if the whole item is.
  public var field: String?
  /// A sentence for a person to read. It names the broken rule, the item and the refused value.
  public var reason: String
  /// The record as the server has it, for ``Code/conflict`` and ``Code/exists`` of a record.
  public var serverRecord: Record?
  /// The limit, for ``Code/limitExceeded`` and ``Code/quotaExceeded``.
  public var limit: Int?

  /// Creates a failure. The reason is a sentence as in ``reason``.
  public init(
    _ code: Code, field: String? = nil, _ reason: String, serverRecord: Record? = nil,
    limit: Int? = nil
  ) {
    self.code = code
    self.field = field
    self.reason = reason
    self.serverRecord = serverRecord
    self.limit = limit
  }

  public var description: String { reason }
}

extension ItemFailure {
  package init(_ error: ModelError) {
    self.init(
      error.code == .limitExceeded ? .limitExceeded : .invalid, field: error.field, error.reason,
      limit: error.limit)
  }
}
