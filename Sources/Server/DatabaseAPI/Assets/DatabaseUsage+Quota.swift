import StoreModel
import WebServices

extension DatabaseUsage {
  /// Throws `QUOTA_EXCEEDED` when there is no room for an asset of so many bytes. Files that no
  /// record holds count too: they are there.
  func check(adding size: Int, to quota: Int64, for field: String) throws(ServiceError) {
    let total = bytes + unheldAssetBytes
    guard total + Int64(size) > quota else { return }
    throw ServiceError(
      .quotaExceeded,
      "there is no room for the asset for field '\(field)': the database has \(total) bytes "
        + "with uploads that no record holds, and its quota is \(quota)", limit: Int(quota))
  }
}
