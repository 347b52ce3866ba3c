/// A field of a record that holds an asset or a list of assets.
public struct AssetPlace: Sendable, Hashable {
  /// The record's name in its zone.
  public var recordName: String
  /// The name of the field.
  public var fieldName: String

  /// Names a field. Neither the record nor the field need exist.
  public init(recordName: String, fieldName: String) {
    self.recordName = recordName
    self.fieldName = fieldName
  }
}
