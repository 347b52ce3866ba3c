package import CloudKitModel

/// A file that belongs to a record's field and is stored beside the records.
///
/// To save one, point it at a file that stays where it is until the save ends. A fetched asset
/// points at a temporary file: move it before you use it.
open class CKAsset: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// Where the file lies on this machine; nil when the asset was not downloaded.
  public let fileURL: URL?

  private let stored: Locked<Asset?>

  /// - Precondition: `fileURL` is a file URL.
  public init(fileURL: URL) {
    requireArgument(fileURL.isFileURL, "CKAsset: \(fileURL) is not a file URL")
    self.fileURL = fileURL
    stored = Locked(nil)
  }

  package init(fileURL: URL?, stored: Asset?) {
    self.fileURL = fileURL
    self.stored = Locked(stored)
  }

  /// What the server knows of the file: set by a fetch, or by the upload that goes before a save.
  package var storedAsset: Asset? {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    fileURL = coder.decodeOptional(NSURL.self, forKey: "fileURL").map { $0 as URL }
    guard let checksum = coder.decodeOptionalString(forKey: "fileChecksum") else {
      stored = Locked(nil)
      return
    }
    stored = Locked(
      Asset(
        fileChecksum: checksum, size: coder.decodeInt64(forKey: "size"),
        referenceChecksum: coder.decodeOptionalString(forKey: "referenceChecksum"),
        wrappingKey: coder.decodeOptionalString(forKey: "wrappingKey"),
        receipt: coder.decodeOptionalString(forKey: "receipt"),
        downloadURL: coder.decodeOptionalString(forKey: "downloadURL")))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(fileURL.map { $0 as NSURL }, forKey: "fileURL")
    guard let asset = storedAsset else { return }
    coder.encode(asset.fileChecksum as NSString, forKey: "fileChecksum")
    coder.encode(asset.size, forKey: "size")
    coder.encodeOptional(asset.referenceChecksum, forKey: "referenceChecksum")
    coder.encodeOptional(asset.wrappingKey, forKey: "wrappingKey")
    coder.encodeOptional(asset.receipt, forKey: "receipt")
    coder.encodeOptional(asset.downloadURL, forKey: "downloadURL")
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    CKAsset(fileURL: fileURL, stored: storedAsset)
  }

  open override var description: String {
    "<CKAsset: \(fileURL?.path ?? "not downloaded")>"
  }
}
