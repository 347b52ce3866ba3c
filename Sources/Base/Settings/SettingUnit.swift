/// The unit of a setting's number.
package enum SettingUnit: String, Sendable {
  /// Bytes.
  case bytes
  /// Seconds.
  case seconds
  /// Days.
  case days
  /// No unit: the number counts the things in the setting's name.
  case count
}
