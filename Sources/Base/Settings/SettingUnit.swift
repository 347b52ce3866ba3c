/// The unit of a setting's number.
package enum SettingUnit: String, Sendable {
  /// Bytes.
  case bytes
  /// Seconds.
  case seconds
  /// Days.
  case days
  /// A number of the things that the setting's name says.
  case count
}
