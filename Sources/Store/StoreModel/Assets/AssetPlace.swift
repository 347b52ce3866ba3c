/// A field that holds an asset.
public struct AssetPlace: Sendable, Hashable {
  public var recordName: String
  public var fieldName: String

  public init(recordName: String, fieldName: String) {
    self.recordName = recordName
    self.fieldName = fieldName
  }
}
