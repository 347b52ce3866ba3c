import Storage
import StoreModel
import WebServices

extension DatabaseUsage {
  /// Checks that the database has space for an asset.
  ///
  /// Uploaded files to which no record refers count too, because they occupy space.
  ///
  /// - Parameters:
  ///   - size: the bytes of the asset; 0 if the usage already contains it.
  ///   - isOwners: whether the caller owns the database. The error shows its size to nobody else.
  func check(
    adding size: Int, to quota: Int64, for field: String, isOwners: Bool
  ) throws(ServiceError) {
    let total = bytes + unheldAssetBytes
    guard total + Int64(size) > quota else { return }
    guard isOwners else {
      throw ServiceError(
        .quotaExceeded,
        "the asset for field '\(field)' exceeds the quota of the zone's owner")
    }
    throw ServiceError(
      .quotaExceeded,
      "the asset for field '\(field)' exceeds the quota: the database has \(total) bytes "
        + "with uploads that no record holds, and its quota is \(quota)", limit: Int(quota))
  }
}
