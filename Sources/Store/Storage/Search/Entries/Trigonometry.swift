import Foundation

func sine(_ degrees: Double) -> Double { sin(degrees * .pi / 180) }

/// Returns degrees, -90 to 90.
func arcSine(_ sine: Double) -> Double { asin(sine) * 180 / .pi }

func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }

/// Returns degrees, 0 to 180.
func arcCosine(_ cosine: Double) -> Double { acos(cosine) * 180 / .pi }
