/// What a number of a setting counts.
package enum SettingUnit: String, Sendable {
  case bytes
  case seconds
  case days
  /// Of what the setting's name says.
  case count
}
