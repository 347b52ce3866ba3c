import CloudKitModel

extension Asset {
  /// The asset with the members without which some clients, such as AgileCloudSDK, do not save it.
  ///
  /// The server stores a file unchanged. Therefore the checksum of a reference is that of the file,
  /// and the wrapping key is empty.
  var complete: Asset {
    var asset = self
    asset.referenceChecksum = fileChecksum
    asset.wrappingKey = ""
    return asset
  }
}
