import CloudKitModel

extension Asset {
  /// The asset with the members that some clients, such as AgileCloudSDK, do not save it without.
  ///
  /// Files are kept as they come: a reference has the checksum of the file, and no key wraps it.
  var complete: Asset {
    var asset = self
    asset.referenceChecksum = fileChecksum
    asset.wrappingKey = ""
    return asset
  }
}
