import CloudKitModel
import StoreModel

/// The records of a database that the requester of a modification may delete.
///
/// A deletion also deletes the records that refer to the deleted one by `deleteSelf`, but only
/// those that the requester could delete directly, whoever made the references. A record beyond
/// these stays as it is: its reference leads to no record then, like that to a target which was
/// never saved. So the requester learns nothing about a record that is out of reach.
struct DeletionRights {
  let caller: Caller
  let address: DatabaseAddress
  /// Nil unless the requester is a participant of the zone's shares.
  let shared: SharedZone?
  let transaction: StoreTransaction

  func mayDelete(_ stored: StoredRecord) throws -> Bool {
    guard address.scope == .public else { return try mayDelete(privateRecord: stored.number) }
    let access = try AccessPolicy.access(
      of: caller, toType: stored.record.recordType, at: address, in: transaction)
    return access.refusal(ofWriting: stored.record) == nil
  }

  func mayDelete(privateRecord number: Int64) throws -> Bool {
    guard let shared else { return true }
    return try shared.membership(ofRecord: number)?.mayDelete(number) ?? false
  }
}
