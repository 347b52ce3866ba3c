/// The unit of a setting's number.
package enum SettingUnit: String, Sendable {
  case bytes
  case seconds
  case days
  /// No unit: the number counts the things in the setting's name.
  case count
}
