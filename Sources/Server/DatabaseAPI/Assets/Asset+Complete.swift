import CloudKitModel

extension Asset {
  /// The asset with a reference checksum and a wrapping key. Some clients, such as AgileCloudSDK,
  /// do not save an asset that lacks these members.
  ///
  /// The server stores a file unchanged. Therefore the reference checksum is the checksum of the
  /// file, and the wrapping key is empty.
  var complete: Asset {
    var asset = self
    asset.referenceChecksum = fileChecksum
    asset.wrappingKey = ""
    return asset
  }
}
