"""The closed form in arrays over many schedules."""
